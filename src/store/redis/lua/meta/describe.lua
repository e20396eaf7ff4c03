--[[
Reads all that is stored about a filter, and which server it is that answers.

KEYS[1]  meta
KEYS[2]  mode of all processes; left out by a process that does not follow it
ARGV[1]  '1' from a process that knows which run of the server it is, and that it is no replica

Reply: { run id of the server ('' when it may not be asked, or is known), type of meta, record of the mode ('' for none), field, value, … }
or the error READONLY from a replica: a client that is set to reconnect on this error sees it also when it only looks up
]]
local isKnown = ARGV[1] == '1'
local function infoOf(section, pattern)
  local info = not isKnown and redis.pcall('INFO', section)
  return type(info) == 'string' and string.match(info, pattern) or ''
end
-- There is no such field. A replica refuses every write, also to a user who may not run INFO.
local written = redis.pcall('HDEL', KEYS[1], '')
local isRefused = type(written) == 'table' and string.find(written.err or '', 'READONLY', 1, true)
if isRefused or infoOf('replication', 'role:(%w+)') == 'slave' then
  return redis.error_reply('READONLY The server is a replica.')
end
local mode = KEYS[2] and redis.pcall('GET', KEYS[2])
local reply = { infoOf('server', 'run_id:(%w+)'), redis.call('TYPE', KEYS[1]).ok, type(mode) == 'string' and mode or '' }
if reply[2] == 'hash' then
  for _, text in ipairs(redis.call('HGETALL', KEYS[1])) do
    reply[#reply + 1] = text
  end
end
return reply
