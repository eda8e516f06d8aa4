package oracle;

import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

import com.netflix.client.config.AbstractDefaultClientConfigImpl;
import com.netflix.client.config.PropertyResolver;

/** The configuration of the client svc, from a map of property keys. */
final class Settings extends AbstractDefaultClientConfigImpl {

	Settings(Map<String, ?> properties) {
		super(new PropertyResolver() {
			@Override
			public <T> Optional<T> get(String key, Class<T> type) {
				return Optional.ofNullable(properties.get(key)).map(value -> valueOf(String.valueOf(value), type));
			}

			@Override
			public void forEach(String prefix, BiConsumer<String, String> consumer) {
			}

			@Override
			public void onChange(Runnable action) {
			}
		});
		loadProperties(Lab.CLIENT);
	}

	private static <T> T valueOf(String text, Class<T> type) {
		Object value = type == Integer.class ? Integer.valueOf(text) : type == Long.class ? Long.valueOf(text)
				: type == Float.class ? Float.valueOf(text) : type == Double.class ? Double.valueOf(text)
						: type == Boolean.class ? Boolean.valueOf(text) : text;
		return type.cast(value);
	}

	@Override
	public void loadDefaultValues() {
		// Each key has its default.
	}

}
