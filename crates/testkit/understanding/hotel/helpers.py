"""The verbs of the hotel's desk."""

from datetime import date


def next_booking_id() -> str:
    """An id that no booking has yet."""
    numbers = [int(row["booking_id"][1:]) for row in bookings_tbl.all()]
    return f"K{max(numbers, default=0) + 1:03d}"


def book(room, guest, check_in, check_out):
    """Books a room for a guest."""
    nights = (date.fromisoformat(check_out) - date.fromisoformat(check_in)).days
    if nights < 1:
        return {"text": "A stay has at least one night.", "status": "invalid_request"}
    there = rooms_tbl.get(where("room_no") == room)
    who = guests_tbl.get(where("guest_id") == guest)
    for other in bookings_tbl.search((where("room_no") == room) & (where("status") != "cancelled")):
        if other["check_in"] < check_out and check_in < other["check_out"]:
            text = f"{there['name']} is taken from {other['check_in']} to {other['check_out']}."
            return {"text": text, "status": "not_available"}
    total = there["rate_per_night"] * nights
    bookings_tbl.insert({
        "booking_id": next_booking_id(), "room_no": room, "guest_id": guest, "check_in": check_in,
        "check_out": check_out, "nights": nights, "total": total, "status": "confirmed",
    })
    text = f"Booked {there['name']} for {who['name']} from {check_in} to {check_out}: {total:g} in total."
    return {"text": text, "status": "success"}


def cancel(booking):
    """Cancels a booking; it stays in the table."""
    return set_status(booking, "confirmed", "cancelled")


def check_guest_out(booking):
    """Notes that the guest of a booking has left."""
    return set_status(booking, "confirmed", "checked out")


def set_status(booking, before, after):
    """Moves a booking from one status to another."""
    row = bookings_tbl.get(where("booking_id") == booking)
    if row["status"] != before:
        return {"text": f"{booking} is {row['status']}.", "status": "not_permitted"}
    bookings_tbl.update({"status": after}, where("booking_id") == booking)
    return {"text": f"{booking} is now {after}.", "status": "success"}
