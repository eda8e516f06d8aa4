package oracle;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;

import com.netflix.loadbalancer.LoadBalancerStats;
import com.netflix.loadbalancer.Server;
import com.netflix.loadbalancer.ZoneAffinityServerListFilter;

import org.springframework.cloud.netflix.ribbon.ZonePreferenceServerListFilter;

/** ZoneAffinityServerListFilter, and Spring's ZonePreferenceServerListFilter on top of it. */
final class ZoneFilterTopic implements Topic {

	private static final String AFFINITY = "svc.ribbon.EnableZoneAffinity";

	private static final String EXCLUSIVITY = "svc.ribbon.EnableZoneExclusivity";

	private static final String LOAD = "svc.ribbon.zoneAffinity.maxLoadPerServer";

	private static final String BLACKOUT = "svc.ribbon.zoneAffinity.maxBlackOutServesrPercentage";

	private static final String AVAILABLE = "svc.ribbon.zoneAffinity.minAvailableServers";

	@Override
	public String name() {
		return "zone-filter";
	}

	@Override
	public long seed() {
		return 20_200_340;
	}

	@Override
	public String about() {
		return "Servers in these zones with so many requests in flight and connection failures in a row, the properties "
				+ "of the client svc, @zone being the own zone: whom ZoneAffinityServerListFilter keeps (affinity), and "
				+ "whom ZonePreferenceServerListFilter of Spring Cloud Netflix 2.2.10 (preference).";
	}

	@Override
	public void write(Vectors to) {
		List<String> zones = List.of("a", "a", "a", "b", "b");
		for (Map<String, ?> flags : List.of(Json.map(AFFINITY, true), Json.map(EXCLUSIVITY, true),
				Json.map(AFFINITY, true, EXCLUSIVITY, true), Json.map())) {
			for (String own : new String[] { "a", "A", "b", "c", null }) {
				to.add("own", vector(flags, own, zones, List.of(), List.of()));
			}
			to.add("empty", vector(flags, "a", List.of(), List.of(), List.of()));
			to.add("own", vector(flags, "a", List.of("a", "a", "a"), List.of(), List.of()));
			to.add("own", vector(flags, "a", Arrays.asList("A", "a", null), List.of(), List.of()));
			to.add("own", vector(flags, "unknown", Arrays.asList("a", null, null), List.of(), List.of()));
			to.add("tripped", vector(flags, "a", zones, List.of(), List.of(3, 3, 3)));
		}
		for (int active = 0; active <= 4; active++) {
			to.add("load", vector(Json.map(AFFINITY, true), "a", zones, List.of(active), List.of()));
			to.add("load", vector(Json.map(AFFINITY, true, LOAD, 1.0), "a", zones, List.of(active), List.of()));
		}
		for (int active = 2; active <= 4; active++) {
			to.add("load", vector(Json.map(AFFINITY, true), "a", List.of("a", "a", "a", "a", "a", "b"),
					List.of(active), List.of()));
		}
		for (int tripped = 0; tripped <= 5; tripped++) {
			to.add("tripped", vector(Json.map(AFFINITY, true, AVAILABLE, 0), "a", List.of("a", "a", "a", "a", "a", "b"),
					List.of(), Collections.nCopies(tripped, 3)));
			to.add("tripped", vector(Json.map(AFFINITY, true), "a", List.of("a", "a", "a", "a", "a", "b"), List.of(),
					Collections.nCopies(tripped, 3)));
			to.add("tripped", vector(Json.map(AFFINITY, true, BLACKOUT, 0.5), "a",
					List.of("a", "a", "a", "a", "a", "a", "b"), List.of(), Collections.nCopies(tripped, 4)));
		}
		for (int least = 0; least <= 4; least++) {
			to.add("available", vector(Json.map(AFFINITY, true, AVAILABLE, least), "a", zones, List.of(), List.of()));
			to.add("available", vector(Json.map(AFFINITY, true, AVAILABLE, least), "c", zones, List.of(), List.of()));
		}
		to.add("available", vector(Json.map(AFFINITY, true), "a", List.of("a", "b", "b"), List.of(), List.of()));
		to.add("available", vector(Json.map(AFFINITY, true), "a", List.of("a", "a", "b"), List.of(), List.of()));
		Random random = new Random(seed());
		for (int i = 0; i < 80; i++) {
			int n = 1 + random.nextInt(9);
			Map<String, Object> properties = i % 6 == 0 ? Json.map(EXCLUSIVITY, true) : Json.map(AFFINITY, true);
			if (i % 4 == 0) {
				properties.put(AVAILABLE, random.nextInt(3));
			}
			to.add("random",
					vector(properties, Lab.oneOf(random, "a", "b", "A"), Lab.zones(random, n, "a", "a", "b", null),
							Lab.ints(random, n, i % 3 == 0 ? 3 : 2),
							Lab.ints(random, n, 2).stream().map(failures -> failures * 3).toList()));
		}
	}

	private static Map<String, Object> vector(Map<String, ?> flags, String own, List<String> zones, List<Integer> active,
			List<Integer> failures) {
		Clock.reset();
		Map<String, Object> properties = new java.util.LinkedHashMap<>(flags);
		if (own != null) {
			properties.put("@zone", own);
		}
		LoadBalancerStats stats = Lab.stats(properties);
		List<Server> servers = Lab.servers(zones);
		List<Integer> allActive = filled(active, zones.size());
		List<Integer> allFailures = filled(failures, zones.size());
		Lab.load(stats, servers, allActive, allFailures);
		ZoneAffinityServerListFilter<Server> affinity = new ZoneAffinityServerListFilter<>(new Settings(properties));
		affinity.setLoadBalancerStats(stats);
		ZonePreferenceServerListFilter preference = new ZonePreferenceServerListFilter();
		preference.initWithNiwsConfig(new Settings(properties));
		preference.setZone(own);
		preference.setLoadBalancerStats(stats);
		Map<String, Object> vector = Json.map("properties", properties, "zones", zones, "active", allActive, "failures",
				allFailures, "affinity", Lab.places(affinity.getFilteredListOfServers(servers)), "preference",
				Lab.places(preference.getFilteredListOfServers(servers)));
		Lab.close(stats);
		return vector;
	}

	private static List<Integer> filled(List<Integer> some, int size) {
		List<Integer> filled = new java.util.ArrayList<>(some.subList(0, Math.min(size, some.size())));
		while (filled.size() < size) {
			filled.add(0);
		}
		return filled;
	}

}
