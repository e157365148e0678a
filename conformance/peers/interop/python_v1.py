"""The official Python client, version 1.

    python python_v1.py URL REVISION TOOL...

It lists the tools, calls those named, and prints what came of it as JSON. This
client knows the handshake alone, so the revision changes nothing.
"""

import asyncio
import json
import sys

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client


async def elicit(_context, params):
    asks_color = "color" in params.requestedSchema["properties"]
    return types.ElicitResult(action="accept", content={"color": "blue"} if asks_color else {"name": "Alice"})


async def sample(_context, _params):
    text = types.TextContent(type="text", text="Hi")
    return types.CreateMessageResult(role="assistant", content=text, model="none")


async def list_roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///a")])


async def call(session, name):
    try:
        result = await session.call_tool(name, {})
    except Exception as error:
        return {"error": str(error)}
    return {"text": " ".join(block.text for block in result.content), "isError": result.isError}


async def main(url, _revision, *names):
    async with streamable_http_client(url) as (read, write, _session_id):
        async with ClientSession(
            read, write, sampling_callback=sample, elicitation_callback=elicit, list_roots_callback=list_roots
        ) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            calls = {name: await call(session, name) for name in names}
    print(json.dumps({"tools": tools, "calls": calls}))


asyncio.run(main(*sys.argv[1:]))
