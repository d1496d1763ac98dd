import argparse
import sys


def parse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=3)
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments or [])
    for index in range(options.count):
        sys.stdout.write(f"{index}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
