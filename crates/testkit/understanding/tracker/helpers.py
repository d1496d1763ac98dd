"""The verbs of the tracker."""


def log_hours(hours, person, task, day):
    """Writes down hours of a person on a task."""
    who = people_tbl.get(where("person_id") == person)
    what = tasks_tbl.get(where("task_id") == task)
    so_far = sum(row["hours"] for row in hours_tbl.search((where("person_id") == person) & (where("day") == day)))
    if so_far + hours > 12:
        return {"text": f"{who['name']} has {so_far:g} hours on {day} already; 12 are the most.", "status": "not_permitted"}
    newest = max((row["entry_id"] for row in hours_tbl.all()), default=0)
    hours_tbl.insert({"entry_id": newest + 1, "person_id": person, "task_id": task, "day": day, "hours": hours})
    return {"text": f"{hours:g} hours of {who['name']} on {what['title']}, {day}.", "status": "success"}


def assign(task, person):
    """Gives a task to somebody."""
    what = tasks_tbl.get(where("task_id") == task)
    who = people_tbl.get(where("person_id") == person)
    if what["assignee"] == person:
        return {"text": f"{what['title']} is {who['name']}'s already.", "status": "invalid_request"}
    tasks_tbl.update({"assignee": person}, where("task_id") == task)
    return {"text": f"{what['title']} is now {who['name']}'s.", "status": "success"}


def set_status(task, status):
    """Gives a task another status."""
    what = tasks_tbl.get(where("task_id") == task)
    if what["status"] == status:
        return {"text": f"{what['title']} is {status} already.", "status": "invalid_request"}
    tasks_tbl.update({"status": status}, where("task_id") == task)
    return {"text": f"{what['title']} is now {status}.", "status": "success"}


def finish(task):
    """Marks a task as done."""
    return set_status(task, "done")
