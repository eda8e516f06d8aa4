/** @module evenkeel/spring: Spring configuration files as evenkeel options. */

export { fromSpring } from './from-spring.js'
export type { SpringOptions, SpringTranslation, SpringWarning } from './types.js'
