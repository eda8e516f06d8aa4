package oracle;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.logging.LogManager;

/** Writes one JSON file per topic into the directory it is given: what the driven jar does. */
public final class Main {

	private Main() {
	}

	public static void main(String[] args) throws Exception {
		// The load balancers warn of every empty list, and those are half of the point here.
		LogManager.getLogManager().reset();
		Locale.setDefault(Locale.ROOT);
		Path directory = Path.of(args[0]);
		Files.createDirectories(directory);
		for (Topic topic : Driven.TOPICS) {
			Vectors vectors = new Vectors(topic.name());
			topic.write(vectors);
			Map<String, Object> file = Json.map("topic", topic.name(), "jar", Driven.version(), "seed", topic.seed(),
					"about", topic.about(), "vectors", vectors.all);
			Files.writeString(directory.resolve(topic.name() + ".json"), Json.of(file));
		}
	}

}
