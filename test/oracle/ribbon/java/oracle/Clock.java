package oracle;

/** What Ribbon takes for the time, in ms. */
public final class Clock {

	/** Not 0, by which Ribbon knows that something has never been. */
	private static final long START = 1_000_000;

	private static long now = START;

	private Clock() {
	}

	public static long now() {
		return now;
	}

	static void wait(int ms) {
		now += ms;
	}

	static void reset() {
		now = START;
	}

}
