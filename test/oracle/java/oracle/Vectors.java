package oracle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The vectors of one topic. Ids count within a group, so that a group can grow without renaming the others. */
final class Vectors {

	final List<Map<String, Object>> all = new ArrayList<>();

	private final String topic;

	private final Map<String, Integer> counts = new HashMap<>();

	Vectors(String topic) {
		this.topic = topic;
	}

	void add(String group, Map<String, ?> vector) {
		String id = String.format("%s/%s-%03d", topic, group, counts.merge(group, 1, Integer::sum));
		Map<String, Object> whole = new LinkedHashMap<>();
		whole.put("id", id);
		whole.putAll(vector);
		all.add(whole);
	}

}
