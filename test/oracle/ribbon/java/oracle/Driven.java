package oracle;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.util.List;

/** Netflix Ribbon. */
final class Driven {

	static final List<Topic> TOPICS = List.of(new RoundRobinTopic(), new RandomTopic(), new RetryRuleTopic(),
			new WeightedResponseTimeTopic(), new BestAvailableTopic(), new AvailabilityTopic(), new PredicateTopic(),
			new ZonesTopic(), new ZoneAvoidanceTopic(), new ServerStatsTopic(), new ZoneFilterTopic(),
			new SubsetFilterTopic(), new RetryHandlerTopic(), new CommandTopic(), new PingTopic(),
			new ServerListTopic(), new ServerTopic());

	private Driven() {
	}

	/** The jar's; Sandbox defines its classes without. */
	static String version() {
		try {
			URL loaded = Driven.class.getClassLoader().getResource("com/netflix/loadbalancer/BaseLoadBalancer.class");
			return ((JarURLConnection) loaded.openConnection()).getMainAttributes().getValue("Implementation-Version");
		}
		catch (IOException thrown) {
			throw new UncheckedIOException(thrown);
		}
	}

}
