--[[
Takes the lease of a filter if a build is due, and notes that one begins. The lease names the server that gave it: one of another server, or
of an earlier run of it, counts for nothing.

KEYS[1]   lease
KEYS[2]   facts about the builds; left out when nothing is to be noted
ARGV[1]   token of the caller
ARGV[2]   life of the lease, in milliseconds
ARGV[3]   occasion: 'manual', 'scheduled', 'recovery', 'overfull', or '' without facts
ARGV[4]   for 'scheduled' and 'overfull': a build that began within so many milliseconds is enough
ARGV[5]   pause after the first failure in a row, in milliseconds; it doubles with each
ARGV[6]   longest such pause
ARGV[7]   life of a lease whose holder has got the reply, in milliseconds
ARGV[8]   for 'scheduled', when the last such build of the caller failed: milliseconds since it asked before; else ''
ARGV[9..] tokens that the caller has had and does not hold any more: such a lease is replaced

Reply: { 'TAKEN', lease } the caller holds the lease: this text, which every step of its build shows
       { 'HELD' }         another process holds it
       { 'NOTDUE', n }    no build is due for n milliseconds
]]
--- @include "run-id"
--- @include "now"
--- @include "pause"
local token, occasion = ARGV[1], ARGV[3]
-- Without a run id the lease names no server.
local server = serverRunId()
local lease = redis.pcall('GET', KEYS[1])
local holder
-- Whatever else has its name is overwritten.
if type(lease) == 'string' then
  local givenBy
  holder, givenBy = string.match(lease, '^([^@]*)@?(.*)$')
  local isOfAnother = givenBy ~= '' and server ~= '' and givenBy ~= server
  -- A command that the client sent again after a broken connection has been carried out already.
  if holder == token and not isOfAnother then return { 'TAKEN', lease } end
  local isGivenUp = false
  for i = 9, #ARGV do
    isGivenUp = isGivenUp or ARGV[i] == holder
  end
  -- Its life was counted before the clock was set back, or it has none: nobody of this package wrote that. An
  -- hour is believed in any case, since another process may hold longer leases than the caller.
  local left = redis.pcall('PTTL', KEYS[1])
  local isEndless = type(left) == 'number' and (left < 0 or left > math.max(10 * ARGV[7], 3600000))
  if not isOfAnother and not isGivenUp and not isEndless then return { 'HELD' } end
end

local notes
local time = occasion ~= '' and redis.pcall('TIME')
-- A user who may not ask for the time has no facts: every build is due.
if time and not time.err then
  local now = millisecondsOf(time)
  local known = redis.pcall('HMGET', KEYS[2], 'running', 'began', 'occasion', 'live', 'failures', 'due', 'wait', 'able', 'contestedAt', 'contestWait')
  if known.err then
    redis.pcall('DEL', KEYS[2])
    known = {}
  end
  -- A time that is still to come was noted before the clock was set back.
  local function past(text)
    local at = tonumber(text or '')
    return at and at <= now and at or nil
  end
  local began, live = past(known[2]), past(known[4])
  local failures, due, wait = tonumber(known[5] or '') or 0, tonumber(known[6] or ''), tonumber(known[7] or '')
  notes = { 'running', token, 'began', now, 'occasion', occasion }
  -- Nobody holds the lease, and the last build has not ended: its process died. One whose lease was replaced
  -- above is no failure.
  local died = known[1] and known[1] ~= token and known[1] ~= holder
  if died then
    failures = failures + 1
    wait = pauseAfter(failures, ARGV[5], ARGV[6])
    due = began and began + wait
    for _, word in ipairs({ 'failures', failures, 'due', due or 0, 'wait', wait }) do
      notes[#notes + 1] = word
    end
  end
  local nextAt = now
  if occasion == 'scheduled' or occasion == 'overfull' then
    local within = tonumber(ARGV[4])
    -- For an overfull filter one that died has cost a scan as well.
    if began and known[3] == occasion and (not died or occasion == 'overfull') then nextAt = math.max(nextAt, began + within) end
    if live then nextAt = math.max(nextAt, live + within) end
  end
  if occasion == 'scheduled' then
    -- One that fails each time, and is always the first to ask, must not keep those from building that can.
    local able, since = past(known[8]), tonumber(ARGV[8])
    if not since then
      redis.pcall('HSET', KEYS[2], 'able', now)
    elseif able and now - able < since then
      nextAt = math.max(nextAt, able + since)
    end
  end
  -- Builds that take the filter from each other, since their processes spell ids in different ways. An hour
  -- was not set by this package.
  local contestedAt, contestWait = past(known[9]), tonumber(known[10] or '')
  if occasion == 'recovery' and contestedAt and contestWait and contestWait <= 3600000 then nextAt = math.max(nextAt, contestedAt + contestWait) end
  local paused = occasion == 'recovery' or occasion == 'overfull' or (occasion == 'scheduled' and died)
  -- A longer pause was not set by this package.
  if paused and due and wait and wait <= 3600000 and due - now <= wait then nextAt = math.max(nextAt, due) end
  if nextAt > now then return { 'NOTDUE', math.ceil(nextAt - now) } end
end

lease = server == '' and token or token .. '@' .. server
redis.call('SET', KEYS[1], lease, 'PX', ARGV[2])
if notes then redis.pcall('HSET', KEYS[2], unpack(notes)) end
return { 'TAKEN', lease }
