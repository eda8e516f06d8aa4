package oracle;

import java.util.List;

/** What only this line has: nothing. */
final class Line {

	static final List<Topic> TOPICS = List.of();

	private Line() {
	}

}
