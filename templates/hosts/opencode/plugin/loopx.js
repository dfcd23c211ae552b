// loopx: installed by `loopx host install opencode`, and renewed and removed with it. What is changed here is lost then.
//
// It sends each event to `loopx hook opencode <event>` as one JSON object on standard input, and gets nothing or one object back:
// `{decision: "deny", reason}`, `{context, env}`, `{continue}` or `{message}`.
import { spawn } from "node:child_process"

const TIMEOUT = 10_000
const OPTIONS = []

const ask = (event, cwd, payload) =>
  new Promise((resolve) => {
    const answer = { code: null, stdout: "", stderr: "" }
    const child = spawn("loopx", ["hook", "opencode", event, ...OPTIONS], { cwd, timeout: TIMEOUT })
    child.stdout.on("data", (data) => (answer.stdout += data))
    child.stderr.on("data", (data) => (answer.stderr += data))
    child.stdin.on("error", () => {})
    child.on("error", () => resolve(answer))
    child.on("close", (code) => resolve({ ...answer, code }))
    child.stdin.end(JSON.stringify({ event, cwd, ...payload }))
  })

const said = (answer) => {
  try {
    return answer.code === 0 && answer.stdout ? JSON.parse(answer.stdout) : {}
  } catch {
    return {}
  }
}

export const Loopx = async ({ client, directory, worktree }) => {
  const cwd = directory || worktree
  const begun = new Map()
  // What a session begins with is asked for once, by whichever comes first.
  const begin = (session) => {
    if (!begun.has(session)) begun.set(session, ask("session.created", cwd, { session }).then(said))
    return begun.get(session)
  }
  // Sessions that were sent on: "sent" until the message arrives, then "again" until somebody else says something.
  const sent = new Map()
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (!session) return
      if (event.type === "session.created") await begin(session)
      if (event.type === "session.idle") {
        const answer = said(await ask(event.type, cwd, { session, again: sent.get(session) === "again" }))
        sent.delete(session)
        if (answer.continue) {
          sent.set(session, "sent")
          await client.session.promptAsync({
            path: { id: session },
            body: { parts: [{ type: "text", text: answer.continue }] },
          })
        }
      }
      if (event.type === "session.deleted") {
        begun.delete(session)
        sent.delete(session)
        await ask(event.type, cwd, { session })
      }
    },
    "chat.message": async ({ sessionID }) => {
      if (sent.get(sessionID) === "sent") sent.set(sessionID, "again")
      else sent.delete(sessionID)
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      const { context } = sessionID ? await begin(sessionID) : {}
      if (context) output.system.push(context)
    },
    "shell.env": async ({ sessionID }, output) => {
      if (sessionID) Object.assign(output.env, (await begin(sessionID)).env)
    },
    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      const answer = await ask("tool.execute.before", cwd, { session: sessionID, tool, args })
      const { decision, reason } = said(answer)
      if (decision === "deny") throw new Error(reason)
      // It ran, and failed.
      if (answer.code) throw new Error(answer.stderr.trim() || "refused by loopx")
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const { context } = said(await ask("session.compacting", cwd, { session: sessionID }))
      if (context) output.context.push(context)
    },
  }
}
