import asyncio


async def double(value):
    await asyncio.sleep(0)
    return value * 2


async def main():
    results = await asyncio.gather(*(double(value) for value in range(3)))
    print(results)


asyncio.run(main())
