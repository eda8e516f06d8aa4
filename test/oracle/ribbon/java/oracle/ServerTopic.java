package oracle;

import com.netflix.loadbalancer.Server;

/** Server, as it reads an address. */
final class ServerTopic implements Topic {

	@Override
	public String name() {
		return "server";
	}

	@Override
	public String about() {
		return "What a server made of the address has for its serverId, host, port and scheme (absent: none); error: what is "
				+ "thrown instead.";
	}

	@Override
	public void write(Vectors to) {
		for (String address : new String[] { "host", "host:8080", "http://host", "https://host", "http://host:8080",
				"https://host:8443/path?a=b", "HTTP://Host:1", "HTTPS://host", "host/path", "host:80/path:81", "host:",
				"host:abc", ":8080", "", " host : 80", "host:-1", "host:70000", "host:+80", "1.2.3.4:80", "[::1]:8080", "::1",
				"http://[2001:db8::1]:80/", "user@host:80", "ftp://host", "http://", "my_svc:80", "host:080",
				"host:99999999999" }) {
			try {
				Server server = new Server(address);
				to.add("address", Json.map("address", address, "serverId", server.getId(), "host", server.getHost(), "port",
						server.getPort(), "scheme", server.getScheme()));
			}
			catch (RuntimeException thrown) {
				to.add("address", Json.map("address", address, "error", thrown.getClass().getSimpleName()));
			}
		}
	}

}
