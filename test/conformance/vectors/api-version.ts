/** @module SCLB 5.0's ReactiveApiVersionServiceInstanceListSupplier and its blocking twin. */

import { expect } from 'chai'
import { type ApiVersionOptions, apiVersion, type PickRequest } from 'evenkeel'
import file from '../../vectors/sclb-api-version.json'
import { candidates, expectRefusal, pick, placed, replayed, tagged, withService } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface Properties {
  header?: string
  queryParameter?: string
  pathSegment?: number
  mediaTypeParameters?: Record<string, string>
  defaultVersion?: string
  required?: boolean
  fallback?: boolean
  callGet?: boolean
}

interface ApiVersionVector extends Vector {
  client?: 'blocking' | 'reactive'
  properties: Properties
  versions: (string | null)[]
  request?: { url: string; headers?: Record<string, string> } | null
  candidates?: number[]
  error?: string
}

function optionsOf(properties: Properties): ApiVersionOptions {
  const { header, queryParameter, pathSegment, mediaTypeParameters, defaultVersion, required, fallback } = properties
  return {
    ...(header !== undefined && { header }),
    ...(queryParameter !== undefined && { query: queryParameter }),
    ...(pathSegment !== undefined && { pathSegment }),
    ...(mediaTypeParameters !== undefined && { mediaType: mediaTypeParameters }),
    ...(defaultVersion !== undefined && { default: defaultVersion }),
    ...(required !== undefined && { required }),
    ...(fallback !== undefined && { fallback: fallback ? 'all' : 'none' }),
  }
}

export const cases = replayed<ApiVersionVector>(
  file,
  async ({ properties, versions, request, candidates: expected, error }) => {
    const replay = async () => {
      let kept: number[] = []
      const options = {
        instances: placed(tagged('API_VERSION', versions)),
        suppliers: [apiVersion(optionsOf(properties))],
        callGetWithRequestOnDelegates: properties.callGet ?? true,
      }
      await withService(options, async (service) => {
        const asked: PickRequest = request ? { method: 'GET', ...request } : {}
        pick(service, asked)
        kept = await candidates(service, asked)
      })
      return kept
    }
    if (error !== undefined) return expectRefusal(replay)
    expect(await replay()).to.deep.equal(expected)
  },
)
