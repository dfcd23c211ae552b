// loopx: installed by `loopx host install opencode`, and renewed and removed with it. What is changed here is lost then.
//
// It passes each event to `loopx hook opencode <event>` as JSON on standard input. Exit 2 refuses, and standard error says why.
import { spawn } from "node:child_process"

const TIMEOUT = 10_000

const ask = (event, cwd, payload) =>
  new Promise((resolve) => {
    const answer = { code: null, stdout: "", stderr: "" }
    const child = spawn("loopx", ["hook", "opencode", event], { cwd, timeout: TIMEOUT })
    child.stdout.on("data", (data) => (answer.stdout += data))
    child.stderr.on("data", (data) => (answer.stderr += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(answer))
    child.on("close", (code) => resolve({ ...answer, code }))
    child.stdin.end(JSON.stringify({ hook_event_name: event, cwd, ...payload }))
  })

// What loopx says in JSON; nothing when it says something else or nothing.
const said = (answer) => {
  try {
    return answer.code === 0 ? JSON.parse(answer.stdout) : {}
  } catch {
    return {}
  }
}

export const Loopx = async ({ client, directory, worktree }) => {
  const cwd = directory || worktree
  const contexts = new Map()
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.created") {
        const { context } = said(await ask(event.type, cwd, { session_id: session }))
        if (context) contexts.set(session, context)
      }
      if (event.type === "session.idle") {
        const { reason } = said(await ask(event.type, cwd, { session_id: session }))
        if (reason) {
          await client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: "text", text: reason }] } })
        }
      }
      if (event.type === "session.deleted") {
        await ask(event.type, cwd, { session_id: event.properties?.info?.id })
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const context = contexts.get(input.sessionID)
      if (context) output.system.push(context)
    },
    "tool.execute.before": async (input, output) => {
      const payload = { session_id: input.sessionID, tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args }
      const answer = await ask("tool.execute.before", cwd, payload)
      if (answer.code === 2) throw new Error(answer.stderr.trim() || "refused by loopx")
    },
    "experimental.session.compacting": async (input, output) => {
      const { context } = said(await ask("experimental.session.compacting", cwd, { session_id: input.sessionID }))
      if (context) output.context.push(context)
    },
  }
}
