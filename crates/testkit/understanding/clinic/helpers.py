"""The verbs of the clinic's front desk."""

from datetime import date


def next_appointment_id() -> str:
    """An id that no appointment has yet."""
    numbers = [int(row["appointment_id"][1:]) for row in appointments_tbl.all()]
    return f"V{max(numbers, default=0) + 1:02d}"


def is_taken(doctor, day, time, besides=None) -> bool:
    """Whether a doctor has somebody at that time already."""
    rows = appointments_tbl.search((where("doctor_id") == doctor) & (where("day") == day) & (where("time") == time))
    return any(row["status"] != "cancelled" and row["appointment_id"] != besides for row in rows)


def book(patient, doctor, day, time, reason):
    """Makes an appointment."""
    who = patients_tbl.get(where("patient_id") == patient)
    whom = doctors_tbl.get(where("doctor_id") == doctor)
    born = date.fromisoformat(who["born_on"])
    then = date.fromisoformat(day)
    age = then.year - born.year - ((then.month, then.day) < (born.month, born.day))
    if age < 16 and whom["specialty"] != "pediatrics":
        return {"text": f"{who['name']} is {age}; children under 16 are seen by pediatrics only.", "status": "not_permitted"}
    if is_taken(doctor, day, time):
        return {"text": f"{whom['name']} has an appointment on {day} at {time} already.", "status": "not_available"}
    appointments_tbl.insert({
        "appointment_id": next_appointment_id(), "patient_id": patient, "doctor_id": doctor,
        "day": day, "time": time, "status": "planned", "reason": reason or None,
    })
    return {"text": f"{who['name']} sees {whom['name']} on {day} at {time}.", "status": "success"}


def cancel(appointment):
    """Cancels an appointment; it stays in the table."""
    return mark(appointment, "cancelled")


def mark(appointment, status):
    """Gives a planned appointment another status."""
    row = appointments_tbl.get(where("appointment_id") == appointment)
    if row["status"] != "planned":
        return {"text": f"{appointment} is {row['status']}, not planned.", "status": "not_permitted"}
    appointments_tbl.update({"status": status}, where("appointment_id") == appointment)
    return {"text": f"{appointment} is now {status}.", "status": "success"}


def move(appointment, day, time):
    """Gives an appointment another day and time."""
    row = appointments_tbl.get(where("appointment_id") == appointment)
    if row["status"] != "planned":
        return {"text": f"{appointment} is {row['status']}, not planned.", "status": "not_permitted"}
    if is_taken(row["doctor_id"], day, time, besides=appointment):
        return {"text": f"The doctor has an appointment on {day} at {time} already.", "status": "not_available"}
    appointments_tbl.update({"day": day, "time": time}, where("appointment_id") == appointment)
    return {"text": f"{appointment} is now on {day} at {time}.", "status": "success"}
