# What CI runs.
ci:
    .ci/run

# The tests.
test:
    cargo test --locked

# Timings, paired against git in the same run.
bench:
    cargo bench --locked --bench speed

# Faults, and what came of them.
torture:
    cargo bench --locked --bench torture

# Every reader of bytes from outside, so many seconds each. Takes cargo-fuzz and a nightly toolchain.
fuzz seconds="60":
    for target in $(cargo +nightly fuzz list); do \
        mkdir -p fuzz/corpus/$target && \
        cargo +nightly fuzz run $target fuzz/corpus/$target fuzz/seeds/$target -- -max_total_time={{seconds}} || exit; \
    done

# Where the gate holds; see docs/enforcement.md for the programs it wants.
enforcement:
    cargo bench --locked --profile dev --bench enforcement

# The published JSON Schemas, written anew.
schemas:
    LOOPX_WRITE_SCHEMAS=1 cargo test --locked --lib published_schemas

# The official clients of the Model Context Protocol, if `LOOPX_MCP_CLIENTS` names the folders they are in; see docs/mcp.md.
mcp:
    cargo test --locked --test it -- mcp::official --nocapture

# The real hosts in a folder, with a model that follows a script; writes the table in docs/hosts.md.
hosts folder:
    LOOPX_HOSTS={{folder}} LOOPX_WRITE_HOSTS=1 cargo test --locked --test hosts -- --nocapture
