package oracle;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

import org.springframework.cloud.client.ServiceInstance;

/** ZonePreferenceServiceInstanceListSupplier. */
final class ZoneTopic implements Topic {

	@Override
	public String name() {
		return "zone";
	}

	@Override
	public long seed() {
		return 20_240_404;
	}

	@Override
	public String about() {
		return "Instances with these values of the metadata key zone (null: without the key), supplier "
				+ "zone-preference with the own zone (absent: none): candidates are whom the policy gets, as places.";
	}

	@Override
	public void write(Vectors to) {
		add(to, "documented", "zone1", "zone1", "zone1", "zone2", "zone3", null);
		add(to, "documented", "zone1", "zone2", "zone3");
		add(to, "documented", null, "zone1", "zone2");
		add(to, "documented", "zone1");
		add(to, "documented", "zone1", null, null);
		for (String own : new String[] { "ZONE", "zone", "", " ", "stra\u00dfe", "STRASSE", "\u0130", "i", "I", "\u0131",
				"\u017f", "k", "\u212a", "\u03a3", "\u03c3", "\u03c2", "\ufb01", "FI", "\u01c5", "\u01c4", "\ud801\udc00" }) {
			add(to, "case", own, "Zone", "zone ", "", " ", null, "STRASSE", "stra\u00dfe", "STRA\u1e9eE", "i", "I",
					"\u0130", "\u0131", "s", "S", "\u017f", "K", "\u212a", "\u03c3", "\u03c2", "fi", "\ufb01", "\u01c6",
					"\u01c5", "\ud801\udc28");
		}
		Random random = new Random(seed());
		for (int i = 0; i < 60; i++) {
			String[] zones = { "eu-1", "EU-1", "us-1", "us-2", null };
			add(to, "random", Lab.oneOf(random, "eu-1", "Us-1", "us-2", "ap-1", null),
					Lab.some(random, random.nextInt(9), zones).toArray(String[]::new));
		}
	}

	private static void add(Vectors to, String group, String own, String... zones) {
		List<ServiceInstance> instances = Lab.instances("zone", Arrays.asList(zones));
		Client client = new Client();
		client.zone = own;
		to.add(group,
				Json.map("zone", own, "zones", Arrays.asList(zones), "candidates",
						Lab.candidates(client.chain(new Lab.Base(instances), List.of("zone-preference")),
								Lab.request(Lab.data()), instances)));
	}

}
