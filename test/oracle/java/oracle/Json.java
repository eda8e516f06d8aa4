package oracle;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Just enough JSON: maps, lists, int[], strings, numbers, booleans, null. ASCII only, lone surrogates survive. */
final class Json {

	private Json() {
	}

	/** Pairs of key and value, in this order; pairs without a value are left out. */
	static Map<String, Object> map(Object... pairs) {
		Map<String, Object> map = new LinkedHashMap<>();
		for (int i = 0; i < pairs.length; i += 2) {
			if (pairs[i + 1] != null) {
				map.put((String) pairs[i], pairs[i + 1]);
			}
		}
		return map;
	}

	static String of(Object value) {
		if (value instanceof Map<?, ?> map) {
			List<String> members = new ArrayList<>();
			map.forEach((key, member) -> members.add(quoted(key.toString()) + ":" + of(member)));
			return "{" + String.join(",", members) + "}";
		}
		if (value instanceof Iterable<?> items) {
			List<String> elements = new ArrayList<>();
			items.forEach(item -> elements.add(of(item)));
			return "[" + String.join(",", elements) + "]";
		}
		if (value == null || value instanceof Number || value instanceof Boolean) {
			return String.valueOf(value);
		}
		return quoted(value.toString());
	}

	private static String quoted(String text) {
		StringBuilder to = new StringBuilder("\"");
		for (char c : text.toCharArray()) {
			if (c == '"' || c == '\\') {
				to.append('\\').append(c);
			}
			else if (c < ' ' || c > '~') {
				to.append(String.format("\\u%04x", (int) c));
			}
			else {
				to.append(c);
			}
		}
		return to.append('"').toString();
	}

}
