-- One POST after another: 200 bytes of JSON, and a key by MODE (environment): unkeyed, fresh or replay.
-- Fresh keys are unique over threads, connections and runs (RUN names the run); replays cycle through KEYS known ones.
local mode = os.getenv("MODE") or "unkeyed"
local run = os.getenv("RUN") or "r"
local keys = tonumber(os.getenv("KEYS") or "1000")
local threads = 0

function setup(thread)
  thread:set("id", threads)
  threads = threads + 1
end

local body = '{"amount":4900,"currency":"eur","customer":"cus_8e03978e","description":"' .. string.rep("x", 120) .. '"}'
local n = 0

function init()
  wrk.method = "POST"
  wrk.body = body
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Authorization"] = "Bearer bench"
end

function request()
  n = n + 1
  if mode == "fresh" then
    wrk.headers["Idempotency-Key"] = run .. "-" .. id .. "-" .. n
  elseif mode == "replay" then
    wrk.headers["Idempotency-Key"] = run .. "-" .. (n % keys)
  end
  return wrk.format(nil, "/charges")
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests": %d, "seconds": %.6f, "p50_us": %.1f, "p99_us": %.1f, "errors": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
