# name: time
# class: allowed
# tries: clocks, sleeping, measuring and formatting of times
# expected: works
# outcome: ok
# after: none
# oracle: inband
# prints: True True 1970-01-01T00:00:00 Thu
import calendar, datetime, time
start = time.perf_counter(); time.sleep(0.02)
print(time.perf_counter() - start >= 0.02, time.time() > 1_700_000_000, datetime.datetime.fromtimestamp(0, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S"), calendar.day_abbr[datetime.date(1970, 1, 1).weekday()])
