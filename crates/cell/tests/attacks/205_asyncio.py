# name: asyncio
# class: allowed
# tries: an event loop with tasks, queues, timeouts and threads
# expected: works
# outcome: ok
# after: no-leftover-process
# oracle: inband
# prints: [0, 1, 4] late 7
import asyncio
async def square(n): await asyncio.sleep(0.01); return n * n
async def main():
    squares = await asyncio.gather(*(square(n) for n in range(3)))
    try: await asyncio.wait_for(asyncio.sleep(5), 0.05); word = "early"
    except asyncio.TimeoutError: word = "late"
    print(squares, word, await asyncio.to_thread(lambda: 7))
asyncio.run(main())
