package oracle;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.logging.LogManager;

import org.springframework.cloud.loadbalancer.core.RoundRobinLoadBalancer;

/** Writes one JSON file per topic into the directory it is given: what this line of the load balancer does. */
public final class Main {

	private Main() {
	}

	public static void main(String[] args) throws Exception {
		// The load balancer warns of every empty list, and those are half of the point here.
		LogManager.getLogManager().reset();
		Locale.setDefault(Locale.ROOT);
		List<Topic> topics = new ArrayList<>(List.of(new RoundRobinTopic(), new WeightedTopic(), new SubsetTopic(),
				new ZoneTopic(), new HintTopic(), new StickyTopic(), new SameInstanceTopic(), new RetryAwareTopic(),
				new ChainTopic(), new UriTopic(), new CachingTopic(), new HealthCheckTopic(), new HealthUrlTopic(),
				new BindingTopic(), new RetryTopic(), new RetryPolicyTopic(), new CookiesTopic(),
				new TransformersTopic()));
		topics.addAll(Line.TOPICS);
		Path directory = Path.of(args[0]);
		Files.createDirectories(directory);
		for (Topic topic : topics) {
			Vectors vectors = new Vectors(topic.name());
			topic.write(vectors);
			Map<String, Object> file = Lab.map("topic", topic.name(), "jar",
					RoundRobinLoadBalancer.class.getPackage().getImplementationVersion(), "seed", topic.seed(),
					"about", topic.about(), "vectors", vectors.all);
			Files.writeString(directory.resolve(topic.name() + ".json"), Json.of(file));
		}
	}

}
