--[[
Gives  insertId(filter, id)  adds a fingerprint of an id to a cuckoo filter; nil, else 'FULL' or the error
]]
local function insertId(filter, id)
  local reply = redis.pcall('CF.INSERT', filter, 'NOCREATE', 'ITEMS', id)
  if reply[1] == -1 or reply.err and string.find(reply.err, 'Maximum expansions', 1, true) then return 'FULL' end
  if reply.err then return reply end
  if reply[1] == 1 then return nil end
  return type(reply[1]) == 'table' and reply[1] or redis.error_reply('ERR CF.INSERT did not add the id')
end
