// An agent's session with the official TypeScript SDK, from "list tasks" to rank 1, with nothing but what the tools say; and one
// call that takes longer than the client's 60 s: SITE, TOKEN, SOURCE (a kernel for the first C++ task with a board on the CPU).
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { SITE, TOKEN, TASK, SOURCE } = process.env
const limit = { timeout: 60_000 } // no progress is asked for: after that the client gives up
const client = new Client({ name: 'agent', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(SITE + '/mcp'), { requestInit: { headers: { Authorization: `Bearer ${TOKEN}` } } }))

const { tools } = await client.listTools() // from here on the SDK holds each answer to the tool's schema
for (const tool of tools) {
  assert(tool.description && tool.outputSchema, `${tool.name} does not say what it answers`)
  const { readOnlyHint, destructiveHint } = tool.annotations
  assert(readOnlyHint || destructiveHint !== undefined, `${tool.name} does not say whether it destroys`)
}
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args }, undefined, limit)
  assert(!result.isError, `${name}: ${result.content?.[0]?.text}`)
  return result.structuredContent
}
const { tasks } = await call('list_tasks', {})
const slug = tasks.find(task => task.slug === TASK).slug
const task = await call('get_task', { task: slug })
const [template] = Object.values(task.templates)
const judged = async (tool, source) => {
  let now = await call(tool, { task: slug, source, file_name: template.name, devices: ['CPU'] })
  while (!now.ended) now = await call('wait_submission', { id: now.id })
  return now
}
const broken = await judged('test_kernel', '#error not yet')
assert(broken.runs[0].state === 'failed' && /not yet/.test(broken.runs[0].output + broken.runs[0].failure))
assert.equal((await judged('test_kernel', template.text)).runs[0].state, 'done')
const first = await judged('rank_kernel', template.text)
const better = await judged('rank_kernel', readFileSync(SOURCE, 'utf8'))
assert(better.runs[0].score_ns < first.runs[0].score_ns)
const board = await call('get_board', { task: slug, device: 'CPU' })
assert(board.entries[0].rank === 1 && board.entries[0].submission_id === better.id, JSON.stringify(board.entries))
const compared = await call('compare_runs', { a: first.id, b: better.id })
assert(compared.cases.length > 0 && compared.a.submission === first.id && compared.b.submission === better.id)
const resource = await client.readResource({ uri: `warpboard://tasks/${slug}` })
assert.match(resource.contents[0].text, /"benchmarks"/)
assert.match((await client.getPrompt({ name: 'climb', arguments: { task: slug } })).messages[0].content.text, /rank_kernel/)
console.log(`TypeScript SDK: ${tools.length} tools; rank 1 of ${board.total} on ${slug}, ${(first.runs[0].score_ns / better.runs[0].score_ns).toFixed(1)} times the template`)

const slow = 'import time, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        time.sleep(9)\n        return x\ndef get_inputs(): return [torch.ones(4)]\n'
const began = Date.now()
let answer = await call('evaluate_kernel', { kernel_source: slow, kernel_type: 'torch', num_trials: 5, timeout: 300, gpu_type: 'cpu' })
assert.equal(answer.ended, false, `it took ${Date.now() - began} ms: not long enough for this test`)
const id = answer.job_id
do answer = await call('get_job_status', { job_id: id, wait: 40 }); while (!answer.ended)
assert.equal(answer.status, 'completed', JSON.stringify(answer))
console.log(`TypeScript SDK with a limit of 60 s: an evaluation of ${Math.round((Date.now() - began) / 1000)} s was waited for`)
await client.close()
