ACTION = "mutate"
inventory_tbl.update_multiple(
    [
        ({"price": 79.0}, where("name") == "Aviator"),
        ({"price": 59.0, "description": "Round classic"}, where("name") == "Classic"),
    ]
)
answer_text = "Both prices are set."
STATUS = "success"
