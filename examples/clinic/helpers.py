"""The verb of the clinic."""


def book(patient, doctor, day, time):
    """Books an appointment."""
    who, by = patients_tbl.get(where("patient_id") == patient), doctors_tbl.get(where("doctor_id") == doctor)
    then = (where("day") == day) & (where("time") == time)
    for row in appointments_tbl.search(then):
        if row["doctor_id"] == doctor or row["patient_id"] == patient:
            busy = by["name"] if row["doctor_id"] == doctor else who["name"]
            return {"text": f"{busy} is not free on {day} at {time}.", "status": "not_available"}
    number = max([int(row["appointment_id"][1:]) for row in appointments_tbl.all()], default=0) + 1
    appointments_tbl.insert({"appointment_id": f"V{number:02d}", "doctor_id": doctor, "patient_id": patient, "day": day, "time": time})
    return {"text": f"Booked {who['name']} with {by['name']} on {day} at {time}.", "status": "success"}
