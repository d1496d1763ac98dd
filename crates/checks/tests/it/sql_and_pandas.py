import pandas as pd

t = frame("t")
other = frame("other")
few = t.head(50)


def one(**values):
    return pd.DataFrame({name: [value] for name, value in values.items()})


def by(columns, **figures):
    return t.groupby(columns, dropna=False, as_index=False).agg(**figures).sort_values(columns, na_position="first")


known = t[t["group"].notna()]
joined = t.merge(other[["id", "whole"]].rename(columns={"whole": "theirs"}), on="id")
pairs = [
    (sql("SELECT * FROM t"), t),
    (sql("FROM other"), other),
    (sql("SELECT id, whole FROM t WHERE whole > 25"), t.loc[t["whole"] > 25, ["id", "whole"]]),
    (sql("SELECT id FROM t WHERE whole BETWEEN 10 AND 20"), t.loc[t["whole"].between(10, 20), ["id"]]),
    (sql("SELECT id FROM t WHERE gappy IS NULL"), t.loc[t["gappy"].isna(), ["id"]]),
    (sql("SELECT id, gappy FROM t WHERE gappy = 40"), t.loc[t["gappy"] == 40, ["id", "gappy"]]),
    (sql("SELECT id, big FROM t WHERE big = 9007199254740993"), t.loc[(t["big"] == 9007199254740993).fillna(False), ["id", "big"]].astype("int64")),
    (sql("SELECT id, real FROM t WHERE real < 0"), t.loc[t["real"] < 0, ["id", "real"]]),
    (sql("SELECT id FROM t WHERE text = 'paid' AND whole < 30"), t.loc[(t["text"] == "paid") & (t["whole"] < 30), ["id"]]),
    (sql("SELECT id FROM t WHERE label IN ('x1', 'x10')"), t.loc[t["label"].isin(["x1", "x10"]), ["id"]]),
    (sql("SELECT id FROM t WHERE day >= DATE '2024-03-01'"), t.loc[t["day"] >= "2024-03-01", ["id"]]),
    (sql("SELECT id, day FROM t WHERE day IS NOT NULL"), t.loc[t["day"].notna(), ["id", "day"]]),
    (sql("""SELECT id, "at" FROM t WHERE "at" > TIMESTAMP '2024-02-29 10:00:00'"""), t.loc[t["at"] > "2024-02-29 10:00:00", ["id", "at"]]),
    (sql("SELECT id FROM t WHERE whole > $least", {"least": 40}), t.loc[t["whole"] > 40, ["id"]]),
    (sql("SELECT id FROM t WHERE label = ?", ["x2"]), t.loc[t["label"] == "x2", ["id"]]),
    (sql("SELECT count(*) AS n FROM t"), one(n=len(t))),
    (sql("SELECT count(gappy) AS n FROM t"), one(n=t["gappy"].count())),
    (sql("SELECT count(DISTINCT label) AS n FROM t"), one(n=t["label"].nunique())),
    (sql("SELECT sum(whole) AS s FROM t"), one(s=t["whole"].sum())),
    (sql("SELECT sum(decimal) AS s FROM t"), one(s=t["decimal"].sum())),
    (sql("SELECT avg(whole) AS a, min(whole) AS l, max(whole) AS h FROM t"), one(a=t["whole"].mean(), l=t["whole"].min(), h=t["whole"].max())),
    (sql("SELECT median(decimal) AS m FROM t"), one(m=t["decimal"].median())),
    (sql("SELECT stddev_samp(whole) AS d FROM t"), one(d=t["whole"].std())),
    (sql("SELECT min(day) AS first, max(day) AS last FROM t"), one(first=t["day"].min(), last=t["day"].max())),
    (sql('SELECT max("at") - min("at") AS span FROM t'), one(span=t["at"].max() - t["at"].min())),
    (sql('SELECT "group", count(*) AS n FROM t GROUP BY "group" ORDER BY "group" NULLS FIRST'), by("group", n=("id", "size"))),
    (sql("SELECT label, sum(whole) AS s FROM t GROUP BY label ORDER BY label"), by("label", s=("whole", "sum"))),
    (sql("SELECT label, avg(gappy) AS a FROM t GROUP BY label ORDER BY label"), by("label", a=("gappy", "mean"))),
    (sql('SELECT label, max("at") AS "last" FROM t GROUP BY label ORDER BY label'), by("label", last=("at", "max"))),
    (sql('SELECT "group", sum(whole) AS s FROM t WHERE "group" IS NOT NULL GROUP BY ALL HAVING sum(whole) > 100 ORDER BY 1'),
     known.groupby("group", as_index=False).agg(s=("whole", "sum")).query("s > 100")),
    (sql("SELECT id, whole * 2 + 1 AS twice FROM t"), pd.DataFrame({"id": t["id"], "twice": t["whole"] * 2 + 1})),
    (sql("SELECT id, whole / 4 AS part FROM t"), pd.DataFrame({"id": t["id"], "part": t["whole"] / 4})),
    (sql("SELECT id, decimal * 1.5 AS more FROM t"), pd.DataFrame({"id": t["id"], "more": t["decimal"] * 1.5})),
    (sql("SELECT id, upper(label) AS big FROM t"), pd.DataFrame({"id": t["id"], "big": t["label"].str.upper()})),
    (sql("SELECT id, coalesce(gappy, 0) AS filled FROM t"), pd.DataFrame({"id": t["id"], "filled": t["gappy"].fillna(0)})),
    (sql("SELECT id, year(day) AS y FROM t WHERE day IS NOT NULL"), pd.DataFrame({"id": t["id"], "y": t["day"].dt.year})[t["day"].notna()].astype("int64")),
    (sql("SELECT id, CASE WHEN whole > 25 THEN 'much' ELSE 'little' END AS how FROM t"), pd.DataFrame({"id": t["id"], "how": ["much" if n > 25 else "little" for n in t["whole"]]})),
    (sql("SELECT id, whole FROM t ORDER BY whole DESC, id LIMIT 7"), t.sort_values(["whole", "id"], ascending=[False, True])[["id", "whole"]].head(7)),
    (sql("SELECT DISTINCT label FROM t ORDER BY label"), t[["label"]].drop_duplicates().sort_values("label")),
    (sql("SELECT t.id, t.whole, other.whole AS theirs FROM t JOIN other ON t.id = other.id ORDER BY t.id"), joined[["id", "whole", "theirs"]]),
    (sql("SELECT id FROM t WHERE id NOT IN (SELECT id FROM other) ORDER BY id"), t.loc[~t["id"].isin(other["id"]), ["id"]]),
    (sql("SELECT id, sum(whole) OVER (ORDER BY id) AS running FROM t"), pd.DataFrame({"id": t["id"], "running": t["whole"].cumsum()})),
    (sql("SELECT id, lag(whole) OVER (ORDER BY id) AS before FROM t"), pd.DataFrame({"id": t["id"], "before": t["whole"].shift()})),
    (sql("WITH few AS (SELECT * FROM t LIMIT 50) SELECT sum(whole) AS s FROM few"), one(s=few["whole"].sum())),
    (sql("SELECT id FROM t WHERE false"), t.loc[t["whole"] < 0, ["id"]]),
]
different = []
for place, (found, expected) in enumerate(pairs):
    expected = expected.reset_index(drop=True)
    expected.attrs = {}
    try:
        # Whether whole numbers beside a gap are nullable is a matter of who made the frame.
        found, expected = (side.convert_dtypes(convert_string=False, convert_boolean=False) for side in (found, expected))
        pd.testing.assert_frame_equal(found, expected, check_index_type=False, check_column_type=False)
    except AssertionError as error:
        different.append(f"{place}: {' '.join(str(error).split())[:300]}")
result = {"status": "FAIL" if different else "PASS", "summary": f"{len(pairs)} statements; {different}"}
