/** @module The users and tokens of a fake Nacos. */

export interface NacosUser {
  username: string
  password: string
  ttlMs: number
}

export class NacosLogins {
  readonly #now: () => number
  /** Until when each is good. */
  readonly #tokens = new Map<string, number>()
  user: NacosUser | undefined
  /** How many tokens were given. */
  given = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** As a server that was started anew with another key: it knows none of its tokens. */
  forget(): void {
    this.#tokens.clear()
  }

  login(params: URLSearchParams): Response {
    const { username, password, ttlMs } = this.user ?? { username: '', password: '', ttlMs: 18_000_000 }
    const isKnown = params.get('username') === username && params.get('password') === password
    if (this.user !== undefined && !isKnown) return new Response('unknown user!', { status: 403 })
    const accessToken = `token-${++this.given}-${'x'.repeat(20)}`
    this.#tokens.set(accessToken, this.#now() + ttlMs)
    return Response.json({ accessToken, tokenTtl: ttlMs / 1_000, globalAdmin: false, username })
  }

  /** Why not; undefined: let in. */
  refusal(request: Request, params: URLSearchParams): string | undefined {
    if (this.user === undefined) return undefined
    const { username, password } = this.user
    if (params.get('username') === username && params.get('password') === password) return undefined
    const bearer = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
    const token = bearer ?? request.headers.get('accesstoken') ?? params.get('accessToken')
    const endsAt = token === null ? undefined : this.#tokens.get(token)
    if (endsAt === undefined) return 'unknown user!'
    return this.#now() < endsAt ? undefined : 'token expired!'
  }
}
