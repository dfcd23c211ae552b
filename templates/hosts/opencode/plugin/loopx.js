// loopx: installed by `loopx host install opencode`, and renewed and removed with it. What is changed here is lost then.
//
// It passes each event to `loopx hook opencode <event>` as JSON on standard input. Exit 2 refuses, and standard error says why;
// otherwise standard output has nothing or one JSON object, with a `context` for the agent or a `reason` to go on.
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
  // What a session begins with is asked for once, by whichever comes first.
  const context = (session) => {
    if (!contexts.has(session)) {
      const answer = ask("session.created", cwd, { session_id: session })
      contexts.set(session, answer.then((answer) => said(answer).context))
    }
    return contexts.get(session)
  }
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID
      if (event.type === "session.created") await context(session)
      if (event.type === "session.idle") {
        const { reason } = said(await ask(event.type, cwd, { session_id: session }))
        if (reason) {
          await client.session.promptAsync({ path: { id: session }, body: { parts: [{ type: "text", text: reason }] } })
        }
      }
      if (event.type === "session.deleted") {
        const gone = event.properties?.info?.id ?? session
        contexts.delete(gone)
        await ask(event.type, cwd, { session_id: gone })
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const text = input.sessionID && (await context(input.sessionID))
      if (text) output.system.push(text)
    },
    "tool.execute.before": async (input, output) => {
      const payload = { session_id: input.sessionID, tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args }
      const answer = await ask("tool.execute.before", cwd, payload)
      if (answer.code === 2) throw new Error(answer.stderr.trim() || "refused by loopx")
    },
    "experimental.session.compacting": async (input, output) => {
      const answer = said(await ask("experimental.session.compacting", cwd, { session_id: input.sessionID }))
      if (answer.context) output.context.push(answer.context)
    },
  }
}
