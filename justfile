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
