--[[
Reads all that is stored about a filter, and which server it is that answers.

KEYS[1]  meta

Reply: { run id of the server ('' when it may not be asked), type of meta, field, value, … }
]]
local info = redis.pcall('INFO', 'server')
local reply = {
  type(info) == 'string' and string.match(info, 'run_id:(%w+)') or '',
  redis.call('TYPE', KEYS[1]).ok,
}
if reply[2] == 'hash' then
  for _, text in ipairs(redis.call('HGETALL', KEYS[1])) do
    reply[#reply + 1] = text
  end
end
return reply
