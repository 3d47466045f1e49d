-- The requests of `scripts/load`: each thread keeps some sessions alive and spreads its requests over them. A checkout
-- gives its session a new id, which is known only from the response.

local sessions_per_thread = 100
local form = { ["Content-Type"] = "application/x-www-form-urlencoded" }

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  sessions = {}
  -- Checkouts without a response yet.
  rotating = 0
  count = 0
  -- Read by done() through the thread.
  answered = 0
  failed = 0
end

local function build(method, path, body, sid)
  local headers = {}
  if body then
    for name, value in pairs(form) do headers[name] = value end
  end
  if sid then headers["Cookie"] = "sid=" .. sid end
  return wrk.format(method, path, headers, body)
end

function request()
  count = count + 1
  -- Without a cookie the service opens a session for the first thing in the cart.
  if #sessions == 0 or #sessions + rotating < sessions_per_thread then
    return build("POST", "/api/cart", "product=1&quantity=1", nil)
  end
  -- By chance, so that every session does everything sooner or later.
  local number = math.random(#sessions)
  local sid = sessions[number]
  local step = count % 50
  if step == 0 then
    table.remove(sessions, number)
    rotating = rotating + 1
    return build("POST", "/api/checkout", "", sid)
  end
  if step == 1 then return build("GET", "/api/orders", nil, sid) end
  if step == 2 then return build("GET", "/", nil, sid) end
  if step == 3 then return build("DELETE", "/api/cart", nil, sid) end
  if step % 5 == 0 then return build("POST", "/api/cart", "product=" .. (count % 7 + 1) .. "&quantity=1", sid) end
  if step % 2 == 0 then return build("GET", "/api/cart", nil, sid) end
  return build("GET", "/api/products", nil, sid)
end

function response(status, headers, body)
  answered = answered + 1
  if status >= 500 then failed = failed + 1 end
  -- The end of a checkout. If it is refused the id stays, and is lost here: another session takes its place.
  if (status == 201 or status == 409) and rotating > 0 then rotating = rotating - 1 end
  if #sessions < sessions_per_thread then
    for name, value in pairs(headers) do
      local sid = name:lower() == "set-cookie" and value:match("^sid=(%x+)")
      if sid then table.insert(sessions, sid) end
    end
  end
end

function done(summary, latency, requests)
  local failed = 0
  for _, thread in ipairs(threads) do failed = failed + thread:get("failed") end
  local errors = summary.errors
  io.write(string.format(
    "result: responses %d connect %d read %d write %d timeout %d failed %d\n",
    summary.requests, errors.connect, errors.read, errors.write, errors.timeout, failed))
end
