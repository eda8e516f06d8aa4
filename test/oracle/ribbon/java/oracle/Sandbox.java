package oracle;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Map;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.SimpleRemapper;

/**
 * Runs Main over Netflix's classes as published, save that their clock, their random numbers and their timers are ours:
 * System.currentTimeMillis is Clock.now, a Random is a Dice and a Timer is a StillTimer.
 */
public final class Sandbox extends URLClassLoader {

	private static final SimpleRemapper OURS = new SimpleRemapper(
			Map.of("java/util/Random", "oracle/Dice", "java/util/Timer", "oracle/StillTimer"));

	private Sandbox(URL[] urls) {
		super(urls, ClassLoader.getPlatformClassLoader());
	}

	public static void main(String[] args) throws Exception {
		Sandbox sandbox = new Sandbox(((URLClassLoader) Sandbox.class.getClassLoader()).getURLs());
		Thread.currentThread().setContextClassLoader(sandbox);
		sandbox.loadClass("oracle.Main").getMethod("main", String[].class).invoke(null, (Object) args);
	}

	@Override
	protected Class<?> findClass(String name) throws ClassNotFoundException {
		if (!name.startsWith("com.netflix.")) {
			return super.findClass(name);
		}
		try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
			if (in == null) {
				throw new ClassNotFoundException(name);
			}
			ClassWriter writer = new ClassWriter(0);
			new ClassReader(in).accept(new ClassRemapper(new ClockReader(writer), OURS), 0);
			byte[] rewritten = writer.toByteArray();
			return defineClass(name, rewritten, 0, rewritten.length);
		}
		catch (IOException thrown) {
			throw new ClassNotFoundException(name, thrown);
		}
	}

	private static final class ClockReader extends ClassVisitor {

		ClockReader(ClassVisitor to) {
			super(Opcodes.ASM9, to);
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
			return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, type, signature, thrown)) {
				@Override
				public void visitMethodInsn(int opcode, String owner, String called, String calledType, boolean isInterface) {
					boolean isClock = owner.equals("java/lang/System") && called.equals("currentTimeMillis");
					super.visitMethodInsn(opcode, isClock ? "oracle/Clock" : owner, isClock ? "now" : called, calledType,
							isInterface);
				}
			};
		}

	}

}
