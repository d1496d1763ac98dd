import json, re, datetime
total = 1 + 1
print(total, f'{total:.2f}', json.dumps({'total': total}))
