package oracle;

import java.util.List;

/** What only this line has. */
final class Line {

	static final List<Topic> TOPICS = List.of(new ApiVersionTopic());

	private Line() {
	}

}
