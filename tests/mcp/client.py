"""Talks to `loopx mcp` as the official client for Python does: python client.py LOOPX MODE."""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult


async def answer(context, params):
    print(f"asked: {params.message.splitlines()[0]}")
    return ElicitResult(action="accept", content={"decision": "approve"})


async def main(loopx, mode):
    server = StdioServerParameters(command=loopx, args=["mcp"], env=None)
    async with Client(server, elicitation_callback=answer, mode=mode) as client:
        print(f"speaks {client.protocol_version} with {client.server_info.name}")
        tools = (await client.list_tools()).tools
        print(f"{len(tools)} tools, {sum(tool.annotations.read_only_hint for tool in tools)} of which read")
        added = await client.call_tool("todo_add", {"title": "one", "priority": "p1"})
        print(f"added: {added.is_error}, {added.structured_content['title']}")
        wrong = await client.call_tool("todo_add", {"title": "one", "colour": "red"})
        print(f"wrong: {wrong.is_error}, {wrong.structured_content['error']['code']}")
        run = await client.call_tool("should_run", {})
        print(f"should run: {run.structured_content['should_run']}")
        asked = await client.call_tool("gate_ask", {"question": "Ship it?", "blocks": ["push"]})
        print(asked.content[0].text, end="")
        held = await client.call_tool("gate_list", {})
        print(f"the gate is {held.structured_content['gates'][0]['state']['is']}")
        for resource in (await client.list_resources()).resources:
            text = (await client.read_resource(resource.uri)).contents[0].text
            print(f"{resource.uri}: {len(text) > 0}")
        print([prompt.name for prompt in (await client.list_prompts()).prompts])
        hand_over = await client.get_prompt("hand-over", {"turn": "x-1"})
        print(hand_over.messages[0].content.text.splitlines()[0])


asyncio.run(main(sys.argv[1], sys.argv[2]))
