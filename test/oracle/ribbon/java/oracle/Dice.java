package oracle;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/** The generator of Ribbon's random numbers: what a topic has laid down for it, then what its source draws. */
public final class Dice extends Random {

	private static final long serialVersionUID = 1;

	private static final Deque<Number> LAID = new ArrayDeque<>();

	private static Random source;

	/** Each draw below a bound as the pair of both, each of [0, 1) alone. */
	private static List<Object> drawn = new ArrayList<>();

	/** Nobody laid down what is drawn; an Error, since the load balancer catches every Exception. */
	private static final class Undecided extends Error {

		private static final long serialVersionUID = 1;

		final int bound;

		Undecided(int bound) {
			this.bound = bound;
		}

	}

	/** One way in which what depends on draws can end. */
	record Outcome<T>(List<Integer> draws, T result) {
	}

	public Dice() {
	}

	static void lay(List<? extends Number> draws) {
		LAID.clear();
		LAID.addAll(draws);
		source = null;
		drawn = new ArrayList<>();
	}

	static void drawFrom(Random random) {
		lay(List.of());
		source = random;
	}

	/** What was drawn since it was asked last. */
	static List<Object> drawn() {
		List<Object> all = drawn;
		drawn = new ArrayList<>();
		return all;
	}

	/** Runs it once for each way in which its draws can fall. */
	static <T> List<Outcome<T>> outcomes(Supplier<T> run) {
		List<Outcome<T>> all = new ArrayList<>();
		Deque<List<Integer>> open = new ArrayDeque<>(List.of(List.of()));
		while (!open.isEmpty()) {
			List<Integer> draws = open.removeFirst();
			lay(draws);
			try {
				all.add(new Outcome<>(draws, run.get()));
			}
			catch (Undecided undecided) {
				for (int i = undecided.bound - 1; i >= 0; i--) {
					List<Integer> longer = new ArrayList<>(draws);
					longer.add(i);
					open.addFirst(longer);
				}
			}
		}
		return all;
	}

	@Override
	public int nextInt(int bound) {
		if (LAID.isEmpty() && source == null) {
			throw new Undecided(bound);
		}
		int draw = LAID.isEmpty() ? source.nextInt(bound) : LAID.removeFirst().intValue();
		drawn.add(List.of(bound, draw));
		return draw;
	}

	@Override
	public double nextDouble() {
		double draw = LAID.isEmpty() ? source.nextDouble() : LAID.removeFirst().doubleValue();
		drawn.add(draw);
		return draw;
	}

}
