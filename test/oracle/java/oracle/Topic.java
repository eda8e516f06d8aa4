package oracle;

/** One vector file: what drives which real classes, and how to replay what came out. */
interface Topic {

	String name();

	/** Of the random vectors; 0 where there are none. */
	default long seed() {
		return 0;
	}

	/** One sentence for whoever replays the vectors. */
	String about();

	void write(Vectors to) throws Exception;

}
