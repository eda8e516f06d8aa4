/** @module Before the tests: the public clients that the fakes are tried with. */

import { installPackages } from '../../tools/extra-packages.js'

export default function setup(): void {
  installPackages('test/registries/witnesses', "the registries' tests")
}
