rows = db.query(
    """
    SELECT c.name, COUNT(o.order_id) AS n
    FROM customers AS c
    LEFT JOIN orders AS o ON o.customer_id = c.customer_id
    GROUP BY c.customer_id
    ORDER BY n DESC
    LIMIT ?
    """,
    [3],
)
answer_text = "Top customers: " + ", ".join(row["name"] for row in rows)
STATUS = "success" if rows else "no_match"
