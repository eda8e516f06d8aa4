/** @module What `--help` prints. */

export const HELP = `npm start
    Starts six HTTP backends on this machine, sends them requests through
    lb.fetch under each policy, and shows who got how much and how that went.

npm start -- --config FILE --service NAME [options]
    Sends requests to a service of your own and shows the same.

Options
  --config FILE         the options of createLoadBalancer as JSON
  --service NAME        which of its services; requests go to http://NAME/
  --requests N          how many GET requests to send          (default 100)
  --concurrency N       how many at a time                     (default 10)
  --path PATH           with its query, if any                 (default /)
  --policy NAME         round-robin, random, least-request or peak-ewma,
                        instead of the service's own
  -H, --header 'K: V'   sent with each request, seen by suppliers such as
                        "hint"; may be repeated
  --json                one JSON document on stdout, nothing else
  -h, --help

Columns
  weight    as the policy sees it: 1 unless "weighted" is among the suppliers
  picks     attempts sent there, retries included; share: of all picks
  errors    no answer, 5xx or 429
  p50, p99  from sending to response headers, in ms; within 1/16

A config file
  {
    "zone": "shanghai",
    "services": {
      "inventory": {
        "instances": [
          "http://10.0.0.1:8080",
          { "url": "http://10.0.0.2:8080", "zone": "shanghai", "weight": 3 },
          { "url": "http://10.0.0.3:8080", "zone": "beijing", "hint": "v2" }
        ],
        "suppliers": ["weighted", { "type": "hint", "header": "x-version" }],
        "policy": { "type": "peak-ewma", "decayMs": 10000 },
        "attemptTimeoutMs": 2000
      }
    }
  }
  Without a "seed" of its own the config gets a fixed one, so that runs compare.

Examples
  npm start -- --config lb.json --service inventory --requests 500
  npm start -- --config lb.json --service inventory --policy least-request \\
      --path '/stock/42?full=1' --header 'x-version: v2'
  npm start --silent -- --config lb.json --service inventory --json | jq .instances
      (--silent keeps npm's own lines out of stdout)

Exit status
  0  done
  1  some request got no answer, or the run went wrong in another way
  2  wrong arguments or config
`
