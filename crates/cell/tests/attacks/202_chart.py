# name: chart
# class: allowed
# tries: a matplotlib chart as PNG and PDF among the artifacts
# expected: collected with the right type and no warning
# outcome: ok
# after: artifacts-refused,artifact-names-safe,active-content-flagged
# limits: wall=20s memory=512MiB
# oracle: inband
# prints: drawn True
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot([1, 2, 3], [2, 4, 8]); axes.set_title("Größe")
figure.savefig(artifacts / "chart.png"); figure.savefig(artifacts / "chart.pdf")
print("drawn", (artifacts / "chart.png").stat().st_size > 5000)
