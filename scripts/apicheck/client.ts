// A client that openapi-typescript and openapi-fetch made of the document, against a real site:
// SITE, TOKEN, TASK, SOURCE (a file). tsc holds every call to the document.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

const { SITE, TOKEN, TASK, SOURCE } = process.env as Record<string, string>
const site = createClient<paths>({ baseUrl: SITE, headers: { Authorization: `Bearer ${TOKEN}` } })
const device = 'CPU'

const { data: list } = await site.GET('/api/v1/tasks')
assert(list?.tasks.some(task => task.slug === TASK && task.devices.includes(device)))
const { data: task } = await site.GET('/api/v1/tasks/{slug}', { params: { path: { slug: TASK } } })
assert(task && task.version >= 1 && task.benchmarks.length)
const bundle = await site.GET('/api/v1/tasks/{slug}/bundle', { params: { path: { slug: TASK } }, parseAs: 'arrayBuffer' })
assert.equal(new TextDecoder().decode((bundle.data as unknown as ArrayBuffer).slice(0, 2)), 'PK')

// A submission that is sent twice with its key is one; its events come as the document says.
const body: components['schemas']['NewSubmission'] = { task: TASK, devices: [device], mode: 'test', file_name: 'kernel.cpp', source: readFileSync(SOURCE, 'utf8') }
const params = { header: { 'Idempotency-Key': crypto.randomUUID() } }
const { data: made } = await site.POST('/api/v1/submissions', { body, params })
const { data: again } = await site.POST('/api/v1/submissions', { body, params })
assert(made && again && made.id === again.id)
const path = { id: made.id }
const states: string[] = []
const stream = await site.GET('/api/v1/submissions/{id}/events', { params: { path }, parseAs: 'text' })
for (const line of (stream.data as unknown as string).split('\n')) {
  if (line.startsWith('data: {')) states.push((JSON.parse(line.slice(6)) as components['schemas']['Event']).state)
}
assert.equal(states.at(-1), 'done')
const { data: ended } = await site.GET('/api/v1/submissions/{id}', { params: { path, query: { wait: 25 } } })
assert(ended?.ended && ended.runs[0]?.state === 'done')
const { data: mine } = await site.GET('/api/v1/submissions', { params: { query: { limit: 1, task: TASK } } })
assert.equal(mine?.submissions[0]?.id, made.id)
if (mine.next) await site.GET('/api/v1/submissions', { params: { query: { limit: 1, before: mine.next } } })
const { data: board } = await site.GET('/api/v1/boards/{slug}/{device}', { params: { path: { slug: TASK, device } } })
assert(board?.entries.every(entry => entry.score_ns > 0))

// An evaluation, and what is refused.
const source_code = 'import torch\nclass Model(torch.nn.Module):\n    def forward(self, x): return x * 2\ndef get_inputs(): return [torch.ones(64)]\n'
const { data: asked } = await site.POST('/api/v1/evaluations', { body: { kernel: { source_code, kernel_type: 'torch' }, num_trials: 3, gpu_type: 'cpu' } as never })
assert(asked)
let now: components['schemas']['Evaluation'] | undefined = asked
for (let i = 0; i < 6 && !now?.ended; i++) now = (await site.GET('/api/v1/evaluations/{id}', { params: { path: { id: asked.id }, query: { wait: 20 } } })).data
assert.equal(now?.state, 'completed', JSON.stringify(now))
const { error, response } = await site.POST('/api/v1/submissions', { body: { ...body, tsak: 'x' } as never })
assert(response.status === 422 && error?.code === 'unknown_key' || response.status === 400, JSON.stringify(error))
console.log(`openapi-typescript: a typed client submitted, followed ${states.length} events, read the board, evaluated`)
