// Prints the milliseconds that importing a package without contents takes.
const start = performance.now()
await import('empty')
console.log(performance.now() - start)
