class Cart:
    def __init__(self):
        self.lines = []

    def add(self, row, quantity):
        self.lines.append((row["name"], row["price"] * quantity))

    def total(self):
        return sum(amount for _, amount in self.lines)


cart = Cart()
for row in inventory_tbl.search(where("price") < 100):
    cart.add(row, 1)
answer_text = f"One of each costs ${cart.total():.2f}."
STATUS = "success"
