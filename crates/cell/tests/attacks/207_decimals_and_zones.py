# name: decimals_and_zones
# class: allowed
# tries: decimals, fractions, dates and time zones
# expected: works
# outcome: ok
# after: none
# oracle: inband
# prints: 0.3 1/2 2026-03-29 03:30:00+02:00
import datetime, decimal, fractions, zoneinfo
berlin = zoneinfo.ZoneInfo("Europe/Berlin")
moment = datetime.datetime(2026, 3, 29, 1, 30, tzinfo=datetime.timezone.utc).astimezone(berlin)
print(decimal.Decimal("0.1") + decimal.Decimal("0.2"), fractions.Fraction(2, 4), moment)
