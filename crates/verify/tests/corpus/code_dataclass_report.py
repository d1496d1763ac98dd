from __future__ import annotations

from dataclasses import asdict, dataclass, field
import csv
import json


@dataclass
class Account:
    name: str
    balance: float = 0.0
    entries: list[float] = field(default_factory=list)

    def __post_init__(self):
        self.entries.append(self.balance)

    def __add__(self, amount: float) -> Account:
        return Account(self.name, self.balance + amount, [*self.entries, amount])

    def __len__(self):
        return len(self.entries)


accounts: dict[str, Account] = {}
with open(files["entries.csv"], newline="") as file:
    for line in csv.DictReader(file):
        name = line["account"]
        accounts[name] = accounts.get(name, Account(name)) + float(line["amount"])
(artifacts / "accounts.json").write_text(json.dumps([asdict(a) for a in accounts.values()], default=lambda o: o.__dict__))
print({name: len(account) for name, account in accounts.items()})
