// Prints the milliseconds from before the import to after the first pick.
const start = performance.now()
const { createLoadBalancer } = await import('evenkeel')
const lb = createLoadBalancer({ services: { stock: ['http://10.0.0.1:8080', 'http://10.0.0.2:8080'] } })
if (lb.pick('stock') === undefined) throw new Error('nothing was picked')
console.log(performance.now() - start)
