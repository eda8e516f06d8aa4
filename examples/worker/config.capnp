using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    ( name = "main", worker = .worker ),
    ( name = "internet", network = ( allow = ["public", "private"] ) ),
  ],
  sockets = [ ( name = "http", address = "127.0.0.1:8787", http = (), service = "main" ) ],
);

const worker :Workerd.Worker = (
  modules = [
    ( name = "index.js", esModule = embed "dist/index.js" ),
    ( name = "core.wasm", wasm = embed "dist/core.wasm" ),
  ],
  bindings = [ ( name = "ORIGINS", fromEnvironment = "ORIGINS" ) ],
  globalOutbound = "internet",
  compatibilityDate = "2024-09-01",
);
