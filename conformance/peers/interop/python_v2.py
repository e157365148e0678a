"""The official Python client, version 2.

    python python_v2.py URL REVISION TOOL...

It lists the tools, calls those named, and prints what came of it as JSON. An
empty revision leaves the choice to the client.
"""

import asyncio
import json
import sys

import mcp_types as types
from mcp import Client

MODES = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}


async def elicit(_context, params):
    asks_color = "color" in params.requested_schema["properties"]
    return types.ElicitResult(action="accept", content={"color": "blue"} if asks_color else {"name": "Alice"})


async def sample(_context, _params):
    text = types.TextContent(type="text", text="Hi")
    return types.CreateMessageResult(role="assistant", content=text, model="none")


async def list_roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///a")])


async def call(client, name):
    try:
        result = await client.call_tool(name, {})
    except Exception as error:
        return {"error": str(error)}
    return {"text": " ".join(block.text for block in result.content), "isError": result.is_error}


async def main(url, revision, *names):
    options = {"mode": MODES[revision]} if revision else {}
    async with Client(
        url, sampling_callback=sample, elicitation_callback=elicit, list_roots_callback=list_roots, **options
    ) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        calls = {name: await call(client, name) for name in names}
    print(json.dumps({"tools": tools, "calls": calls}))


asyncio.run(main(*sys.argv[1:]))
